//! The reference store of `grants.rs` as a program, so that stores in other languages can be compared with it.
//!
//! Reads one request per line, a JSON object, and answers each with one line. It keeps one store, empty at first.
//! Run it with `cargo run -q -p flakeforge-core --example grants`.
//!
//! Every request has a `step`. The other fields depend on the step:
//!
//! | step | fields | answer |
//! |---|---|---|
//! | `open` | group, `create` (false) | `{"ok":true}` if it created the group, else `{"ok":false}` |
//! | `acquire` | group, `owner`, `host`, `clientNow` | `{"ok":{"slot":0,"lo":…,"hi":…,"storeNow":…}}` |
//! | `renew` | group, `slot`, `owner`, `clientNow` | the same, or `{"ok":"lost"}`, `{"ok":"destroyed"}` |
//! | `release` | group, `slot`, `owner`, `last` | `{"ok":null}` |
//! | `destroy` | group, without `config` | `{"ok":null}` |
//! | `list` | `group` alone | `{"ok":[{"slot":0,"owner":"…","host":"…","lo":…,"hi":…}, …]}`, by slot; no `owner` once released |
//! | `advance` | `now`, `incarnation`, `name`, `by`, `init` (none) | `{"ok":"<value before>"}` |
//! | `flush` | | `{"ok":null}`: removes groups and counters |
//! | `save`, `restore` | | `{"ok":null}`: remembers groups and counters; brings back those that were remembered last |
//!
//! "group" above stands for `"now":<the store's clock>`, `"incarnation":<any whole number ≥ 0>`, `"group":"<name>"` and
//! `"config":{"fingerprint":"…","slots":…,"ttlMs":…,"skewMs":…}`. Times are whole Unix milliseconds. `owner` is 32 hex
//! digits. `by`, `init` and their answer are decimal text, since they go up to 2^64 − 1.
//!
//! A step that is refused answers
//! `{"error":"ERR_FLAKE_QUIET","retryAt":…,"storeNow":…}`,
//! `{"error":"ERR_FLAKE_EXHAUSTED","retryAt":…,"storeNow":…}`,
//! `{"error":"ERR_FLAKE_CLOCK_SKEW","skewMs":<clientNow − now>}`,
//! `{"error":"ERR_FLAKE_CONFIG_MISMATCH","theirs":{config},"ours":{config}}`,
//! `{"error":"ERR_FLAKE_DESTROYED"}` or
//! `{"error":"ERR_FLAKE_STORE","why":"gone"|"lost"|"full"}`.
//! A line that is not such a request ends the program with a message.

use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};

use flakeforge_core::grants::{Broken, Config, Granted, Member, Refused, Renewal, Store};
use flakeforge_core::lease::Owner;
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let mut store = Store::default();
    let mut saved = Store::default();
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let line = line?;
        let answer = answer(&mut store, &mut saved, &serde_json::from_str(&line)?);
        writeln!(out, "{}", answer.map_err(|error| format!("{line}: {error}"))?)?;
        out.flush()?; // the client waits for this line before it goes on
    }
    Ok(())
}

fn answer(store: &mut Store, saved: &mut Store, request: &Value) -> Result<Value> {
    match text(request, "step")? {
        "flush" => *store = Store::default(),
        "save" => *saved = store.clone(),
        "restore" => *store = saved.clone(),
        "list" => return Ok(json!({ "ok": list(store, text(request, "group")?) })),
        "advance" => return advance(store, request),
        step => return group_step(store, step, request),
    }
    Ok(json!({ "ok": null }))
}

fn group_step(store: &mut Store, step: &str, request: &Value) -> Result<Value> {
    let now = whole(request, "now")?;
    let group = text(request, "group")?;
    store.incarnation = whole(request, "incarnation")?.try_into()?;
    if step == "destroy" {
        store.destroy(now, group);
        return Ok(json!({ "ok": null }));
    }
    let config = config(request)?;
    let at = store.step(now, group, &config);
    let done = match step {
        "open" if request["create"] == true => at.create().map(Value::Bool),
        "open" => at.open().map(Value::Bool),
        "acquire" => {
            let (host, client_now) = (text(request, "host")?, whole(request, "clientNow")?);
            at.acquire(Member { owner: owner(request)?, host, client_now }).map(|granted| window(granted, now))
        }
        "renew" => {
            let renewal = at.renew(slot(request)?, owner(request)?, whole(request, "clientNow")?);
            renewal.map(|renewal| match renewal {
                Renewal::Renewed(granted) => window(granted, now),
                Renewal::Lost => json!("lost"),
                Renewal::Destroyed => json!("destroyed"),
            })
        }
        "release" => at.release(slot(request)?, owner(request)?, whole(request, "last")?).map(|()| Value::Null),
        other => return Err(format!("there is no step '{other}'").into()),
    };
    Ok(done.map_or_else(|refused| refusal(&refused, now, &config), |ok| json!({ "ok": ok })))
}

fn window(granted: Granted, now: i64) -> Value {
    let Granted { slot, lo, hi } = granted;
    json!({ "slot": slot, "lo": lo, "hi": hi, "storeNow": now })
}

fn refusal(refused: &Refused, now: i64, ours: &Config) -> Value {
    match refused {
        Refused::Quiet { until } => json!({ "error": "ERR_FLAKE_QUIET", "retryAt": until, "storeNow": now }),
        Refused::Exhausted { retry_at } => {
            json!({ "error": "ERR_FLAKE_EXHAUSTED", "retryAt": retry_at, "storeNow": now })
        }
        Refused::Skew { by } => json!({ "error": "ERR_FLAKE_CLOCK_SKEW", "skewMs": by }),
        Refused::Mismatch(theirs) => {
            json!({ "error": "ERR_FLAKE_CONFIG_MISMATCH", "theirs": shown(theirs), "ours": shown(ours) })
        }
        Refused::Destroyed => json!({ "error": "ERR_FLAKE_DESTROYED" }),
    }
}

fn advance(store: &mut Store, request: &Value) -> Result<Value> {
    store.incarnation = whole(request, "incarnation")?.try_into()?;
    let init = match &request["init"] {
        Value::Null => None,
        _ => Some(text(request, "init")?.parse()?),
    };
    Ok(match store.advance(text(request, "name")?, text(request, "by")?.parse()?, init) {
        Ok(before) => json!({ "ok": before.to_string() }),
        Err(broken) => {
            let why = match broken {
                Broken::Gone => "gone",
                Broken::Lost => "lost",
                Broken::Full => "full",
            };
            json!({ "error": "ERR_FLAKE_STORE", "why": why })
        }
    })
}

fn list(store: &Store, group: &str) -> Vec<Value> {
    let shown = store.list(group).map(|(number, slot)| {
        let mut shown = json!({ "slot": number, "host": slot.host, "lo": slot.lo, "hi": slot.hi });
        if let Some(owner) = slot.owner {
            shown["owner"] = json!(format!("{owner:032x}"));
        }
        shown
    });
    shown.collect()
}

fn shown(config: &Config) -> Value {
    let Config { fingerprint, slots, ttl_ms, skew_ms } = config;
    json!({ "fingerprint": fingerprint, "slots": slots, "ttlMs": ttl_ms, "skewMs": skew_ms })
}

fn config(request: &Value) -> Result<Config> {
    let config = &request["config"];
    Ok(Config {
        fingerprint: text(config, "fingerprint")?.to_owned(),
        slots: whole(config, "slots")?.try_into()?,
        ttl_ms: whole(config, "ttlMs")?,
        skew_ms: whole(config, "skewMs")?,
    })
}

fn slot(request: &Value) -> Result<u32> {
    Ok(whole(request, "slot")?.try_into()?)
}

fn owner(request: &Value) -> Result<Owner> {
    Ok(Owner::from_str_radix(text(request, "owner")?, 16)?)
}

fn text<'a>(request: &'a Value, field: &str) -> Result<&'a str> {
    request[field].as_str().ok_or_else(|| format!("'{field}' must be text").into())
}

fn whole(request: &Value, field: &str) -> Result<i64> {
    request[field].as_i64().ok_or_else(|| format!("'{field}' must be a whole number").into())
}
