// Filters, search and keys. The page reads well without any of this.
(() => {
  "use strict";
  const tools = document.querySelector(".tools");
  if (!tools) return;
  tools.hidden = false;
  const all = (selector) => Array.from(document.querySelectorAll(selector));

  // Filters: hide the items of a kind.
  const filter = () => {
    const off = new Set(all("[data-filter]").filter((box) => !box.checked).map((box) => box.dataset.filter));
    for (const item of all("main .item[data-kind]")) item.toggleAttribute("data-off", off.has(item.dataset.kind));
  };
  for (const box of all("[data-filter]")) box.addEventListener("change", filter);

  // Search: hide the turns without the words, open what holds them, go to the first.
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const seek = () => {
    const words = search.value.trim().toLowerCase();
    let count = 0;
    let first = null;
    for (const turn of all("main > .turn")) {
      const hit = words === "" || turn.textContent.toLowerCase().includes(words);
      turn.toggleAttribute("data-off", !hit);
      if (!hit || words === "") continue;
      count += 1;
      first = first || turn;
      for (const part of turn.querySelectorAll("details")) {
        part.open = part.textContent.toLowerCase().includes(words);
      }
    }
    found.textContent = words === "" ? "" : count === 1 ? "1 turn" : `${count} turns`;
    if (first) first.scrollIntoView();
  };
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(seek, 150);
  });

  const openAll = (open) => {
    for (const part of all("main details")) part.open = open;
  };
  document.getElementById("unfold").addEventListener("click", () => openAll(true));
  document.getElementById("fold").addEventListener("click", () => openAll(false));

  // Paper cannot be unfolded: everything is open while the page is printed.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("main details:not([open])");
    for (const part of folded) part.open = true;
  });
  addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
  });

  // A link to a turn or a message is copied when it is followed.
  document.addEventListener("click", async (event) => {
    const link = event.target instanceof Element && event.target.closest("a.anchor, a.link");
    if (!link || !navigator.clipboard) return;
    try {
      await navigator.clipboard.writeText(link.href);
      found.textContent = "Link copied";
    } catch {
      // The address bar has the link as well.
    }
  });

  // A link to something folded opens what is around it.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();

  // Keys.
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target instanceof HTMLInputElement && event.target.type === "search";
    if (typing) {
      if (event.key === "Escape") {
        search.value = "";
        seek();
        search.blur();
      }
      return;
    }
    if (event.key === "/") {
      event.preventDefault();
      search.focus();
      return;
    }
    if (event.key !== "j" && event.key !== "k") return;
    const turns = all("main > .turn:not([data-off])");
    const here = turns.findIndex((turn) => turn.getBoundingClientRect().bottom > 40);
    const next = turns[event.key === "j" ? here + 1 : Math.max(here - 1, 0)];
    if (next) next.scrollIntoView();
  });
})();
