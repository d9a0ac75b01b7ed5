//! Regressions in the repairs that take the words of torn and lost records from where Claude Code writes them a second time.

use serde_json::{Value, json};

use super::doctor::{
    answer, assert_healthy, call, called, home, prompt, repair_leaves_alone, spoil, text,
};
use crate::harness::{Home, SESSION, Transcript, records, uuid};

/// Tears the line of the `n`th entry after its `words`.
fn tear(home: &Home, n: usize, words: &str) {
    let path = home.transcript(SESSION);
    let text = fs_err::read_to_string(&path).expect("the session");
    let own = format!("\"uuid\":\"{}\"", uuid(SESSION, n));
    let torn = text.lines().map(|line| {
        if line.contains(&own) {
            // The client writes the parent first.
            let value: Value = serde_json::from_str(line).expect("a record");
            let parent = &value["parentUuid"];
            format!(r#"{{"parentUuid":{parent},"isSidechain":false,"type":"user","message":{{"role":"user","content":"{words}"#)
        } else {
            line.to_owned()
        }
    });
    let torn: Vec<String> = torn.collect();
    home.write(&path, torn.join("\n") + "\n");
}

#[test]
fn repair_restores_a_torn_prompt_from_second_copies() {
    let whole = "please look at the parser and tell me what it does";
    let lines = [
        prompt(1, 0, "go"),
        answer(2, 1, "msg_1", text("done")),
        prompt(3, 2, whole),
        answer(4, 3, "msg_2", text("it parses")),
    ];
    let queued = json!({"type": "queue-operation", "operation": "enqueue", "content": whole, "timestamp": "2026-01-02T03:04:03.000Z", "sessionId": SESSION});
    let last = json!({"type": "last-prompt", "lastPrompt": whole, "leafUuid": uuid(SESSION, 4), "sessionId": SESSION});
    let sent = json!({"type": "api-request-blob", "sessionId": SESSION, "hash": "x", "message": {"role": "user", "content": text(whole)}});
    let history = json!({"display": whole, "pastedContents": {}, "timestamp": 1, "project": "/p", "sessionId": SESSION});
    for (extra, history, source) in [
        (vec![queued], None, "queue of typed prompts"),
        (vec![last], None, "note of the last prompt"),
        (vec![sent], None, "record of a request"),
        (Vec::new(), Some(history), "history of typed prompts"),
    ] {
        let home = home("2.1.325", &[&lines[..], &extra].concat());
        if let Some(history) = history {
            home.write(home.config().join("history.jsonl"), format!("{history}\n"));
        }
        tear(&home, 3, "please look at the par");
        let preview = home.run(&["repair", SESSION, "-n"]);
        assert!(
            preview.stdout.contains(source) || preview.stderr.contains(source),
            "{preview:?}"
        );
        let run = home.run(&["repair", SESSION, "--in-place", "--yes"]);
        assert_eq!(run.code, 0, "{run:?}");
        let after = records(&home.transcript(SESSION));
        let restored = after.iter().find(|r| r["message"]["content"] == whole);
        let restored = restored.expect("the prompt");
        assert_eq!(
            restored["uuid"],
            uuid(SESSION, 3),
            "the answer still follows it"
        );
        assert_eq!(restored["parentUuid"], uuid(SESSION, 2));
        assert_healthy(&home);
    }
}

#[test]
fn repair_says_that_a_prompt_is_lost_where_its_second_copy_is_cut() {
    let words = "one two three four ".repeat(30);
    // Claude Code notes no more than 200 characters of the last prompt.
    let cut: String = words.chars().take(200).chain(['…']).collect();
    let last = json!({"type": "last-prompt", "lastPrompt": cut, "leafUuid": uuid(SESSION, 4), "sessionId": SESSION});
    let home = home(
        "2.1.325",
        &[
            prompt(1, 0, "go"),
            answer(2, 1, "msg_1", text("done")),
            prompt(3, 2, &words),
            answer(4, 3, "msg_2", text("it parses")),
            last,
        ],
    );
    tear(&home, 3, "one two three f");
    let run = home.run(&["repair", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let after = records(&home.transcript(SESSION));
    let restored = after.iter().find(|r| r["uuid"] == uuid(SESSION, 3));
    let restored = &restored.expect("the prompt")["message"]["content"];
    let note = "\n[The rest of this prompt is lost: its line in the session file was torn.]";
    assert_eq!(*restored, words[..200].to_owned() + note);
    assert_healthy(&home);
}

#[test]
fn repair_takes_the_words_of_an_interrupted_subagent_from_its_progress() {
    let words = json!({"type": "assistant", "message": {"role": "assistant", "content": text("I counted two so far.")}});
    let progress = json!({
        "parentUuid": uuid(SESSION, 2), "isSidechain": false, "type": "progress",
        "data": {"type": "agent_progress", "prompt": "count", "agentId": "a1b2c3d", "message": words},
        "toolUseID": "agent_msg_0", "parentToolUseID": "toolu_1", "uuid": uuid(SESSION, 3),
        "timestamp": "2026-01-02T03:04:03.000Z", "sessionId": SESSION,
    });
    let task = json!([{"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "count"}}]);
    let home = home(
        "2.1.45",
        &[
            prompt(1, 0, "go"),
            answer(2, 1, "msg_1", task),
            progress,
            prompt(4, 2, "go on then"),
            answer(5, 4, "msg_2", text("on")),
        ],
    );
    let run = home.run(&["repair", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let content = result_of(&home, "toolu_1")["content"].to_string();
    assert!(content.contains("I counted two so far."), "{content}");
}

#[test]
fn repair_takes_the_output_of_an_interrupted_call_from_its_progress() {
    let progress = json!({
        "parentUuid": uuid(SESSION, 2), "isSidechain": false, "type": "progress",
        "data": {"type": "bash_progress", "output": "half", "fullOutput": "half of the output"},
        "toolUseID": "bash-progress-0", "parentToolUseID": "toolu_1", "uuid": uuid(SESSION, 3),
        "timestamp": "2026-01-02T03:04:03.000Z", "sessionId": SESSION,
    });
    let home = home(
        "2.1.45",
        &[
            prompt(1, 0, "go"),
            answer(2, 1, "msg_1", call("toolu_1")),
            progress,
            prompt(4, 2, "go on then"),
            answer(5, 4, "msg_2", text("on")),
        ],
    );
    let run = home.run(&["repair", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let after = records(&home.transcript(SESSION));
    let result = after
        .iter()
        .find(|r| r["message"]["content"][0]["tool_use_id"] == "toolu_1");
    let content = &result.expect("a result")["message"]["content"][0]["content"];
    assert!(
        content
            .as_str()
            .is_some_and(|c| c.contains("half of the output")),
        "{content}"
    );
}

/// Returns the content of the only result of a call.
fn result_of(home: &Home, call: &str) -> Value {
    let after = records(&home.transcript(SESSION));
    let entries = after.iter().filter(|r| r["type"] == "user");
    let blocks = entries.filter_map(|r| r["message"]["content"].get(0));
    let mut results = blocks.filter(|b| b["tool_use_id"] == call);
    let result = results.next().expect("a result").clone();
    assert!(results.next().is_none(), "one result");
    result
}

/// The line of a result as the client writes it, torn after `end`.
fn torn_result(end: &str) -> String {
    format!(
        r#"{{"parentUuid":"{}","isSidechain":false,"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_1","type":"tool_result","content":{end}"#,
        uuid(SESSION, 2)
    )
}

#[test]
fn repair_restores_a_torn_result_from_its_second_copies() {
    let blob = json!({"type": "api-request-blob", "sessionId": SESSION, "hash": "x", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "all that was sent"}]}});
    let own = uuid(SESSION, 3);
    for (end, extra, words, source) in [
        (
            format!(
                r#""all of it","is_error":false}}]}},"uuid":"{own}","toolUseResult":{{"stdout":"all o"#
            ),
            Vec::new(),
            "all of it",
            "the readable part of the line",
        ),
        (
            format!(
                "\"all\0\0 of\"}}]}},\"uuid\":\"{own}\",\"toolUseResult\":{{\"stdout\":\"all of it\",\"stderr\":\"\"}}}}"
            ),
            Vec::new(),
            "all of it",
            "Claude Code's own copy",
        ),
        (
            "\"all th".to_owned(),
            vec![blob],
            "all that was sent",
            "the record of a request",
        ),
        (
            "\"the first half".to_owned(),
            Vec::new(),
            "the first half\n[The rest of this result is lost: its line in the session file was torn.]",
            "the readable part of the line",
        ),
    ] {
        let home = called(&extra);
        spoil(&home, 3, |_| torn_result(&end));
        let run = home.run(&["repair", SESSION, "--in-place", "--yes"]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains(source), "{source}: {run:?}");
        assert_eq!(result_of(&home, "toolu_1")["content"], words);
        let after = records(&home.transcript(SESSION));
        let restored = after.iter().find(|r| r["uuid"] == own.as_str());
        assert_eq!(restored.expect("its uuid")["parentUuid"], uuid(SESSION, 2));
        assert_healthy(&home);
        assert!(repair_leaves_alone(&home), "a second repair");
    }
}

#[test]
fn repair_takes_a_lost_result_from_the_subagents_transcript() {
    let task = json!([{"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "count the files"}}]);
    let home = home(
        "2.1.325",
        &[
            prompt(1, 0, "go"),
            answer(2, 1, "msg_1", task),
            prompt(3, 2, "go on"),
            answer(4, 3, "msg_2", text("on")),
        ],
    );
    let agent = Transcript::of_agent(SESSION, "a1b2c3d", &home.project());
    let agent = agent.prompt("count the files").answer("There are three.");
    let path = home
        .folder()
        .join(SESSION)
        .join("subagents/agent-a1b2c3d.jsonl");
    home.write(path, agent.text());
    let run = home.run(&["repair", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("the subagent's transcript"), "{run:?}");
    let result = result_of(&home, "toolu_1");
    assert_eq!(result["content"], "There are three.");
    assert!(result.get("is_error").is_none(), "{result}");
}
