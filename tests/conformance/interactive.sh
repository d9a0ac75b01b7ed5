#!/bin/sh
# Types into a client in a terminal of its own, and prints what the screen showed on the way.
# usage: interactive.sh record CLIENT SESSION, interactive.sh continue CLIENT, or interactive.sh rewind CLIENT TITLE
mode=$1 client=$2 name=$3
terminal() { tmux -S "$PWD/../terminal" -f /dev/null "$@"; }
screen() { terminal capture-pane -p; }
fail() {
    echo "$1"
    screen
    terminal kill-server
    exit 1
}
# Waits until words are on the screen.
see() {
    tries=0
    until screen | grep -qF -- "$1"; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || fail "never saw: $1"
        sleep 0.2
    done
}
# Waits until the screen shows something, and stays as it is for a while.
settle() {
    tries=0 before=
    while [ "$tries" -lt 30 ]; do
        now=$(screen)
        [ -n "$now" ] && [ "$now" = "$before" ] && return
        before=$now tries=$((tries + 1))
        sleep 1
    done
}
say() {
    terminal send-keys -l "$1"
    sleep 1
    terminal send-keys Enter
}
press() {
    terminal send-keys "$1"
    settle
}
start() {
    terminal new-session -d -x 140 -y 50 "$client --dangerously-skip-permissions $1"
    settle
}
case $mode in
record)
    start "--session-id $name"
    say "write the notes"
    see "Written."
    settle
    say "write them anew"
    see "Rewritten."
    settle
    ;;
continue)
    start --continue
    see "ritten."
    settle
    say "what now?"
    see "Noted."
    settle
    say /memory
    see "emory"
    settle
    screen
    press Escape
    ;;
rewind)
    start --resume
    see "$name"
    press Enter
    see "Rewritten."
    settle
    say /rewind
    settle
    press Up
    press Enter
    press Enter
    screen
    ;;
esac
terminal kill-server
# The client writes its last lines after its terminal is gone.
sleep 2
