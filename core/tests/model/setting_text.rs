//! Settings as text, such as `m=2,2o slots=2 Loss=1 Pause=2`: the differences from the usual ones.

use crate::counting::{COUNTING, Counting};
use crate::settings::{How, Left, Options, SETTING, Setting, Trouble};
use crate::store::Version;

const TROUBLES: [(&str, Trouble); 22] = {
    use Trouble::*;
    [
        ("Pause", Pause),
        ("Unheard", Unheard),
        ("Late", Late),
        ("Again", Again),
        ("Loss", Loss),
        ("Flush", Flush),
        ("Restart", Restart),
        ("StoreClock", StoreClock),
        ("MemberClock", MemberClock),
        ("Crash", Crash),
        ("Detach", Detach),
        ("GiveUp", GiveUp),
        ("InUse", InUse),
        ("Destroy", Destroy),
        ("Remove", Remove),
        ("Create", Create),
        ("Forget", Forget),
        ("Sleep", Sleep),
        ("Upgrade", Upgrade),
        ("Split", Split),
        ("Move", Move),
        ("NextAt", NextAt),
    ]
};

/// The names of all troubles.
pub fn names() -> impl Iterator<Item = &'static str> {
    TROUBLES.iter().map(|(name, _)| *name)
}

/// - `m=2,3d,2o,2k,2b,2n`: six members with these ttls, one of them durable (d), one with other options (o), one that keeps the
///   last slot's node for IDs of the past (k), one with a clock that is 1 ms behind (b), and one of the next version (n).
///   `newest=1`: so is the last client of a counter.
/// - `hows=rpwx`: losses by restart (r), promotion (p), another name that returns (w), or with a position that falls (x).
/// - `lefts=nes`: they leave nothing (n), everything (e), or the saved state (s).
/// - `old=1`: after a split, the old primary still answers cleanly in the same ms. `session=1` breaks R10, `patient=1` keeps
///   R11 and `patient=0` breaks it.
impl From<&str> for Setting {
    fn from(words: &str) -> Self {
        let mut setting = SETTING;
        let mut troubles = Vec::new();
        for (name, value) in pairs(words) {
            let number = || value.parse::<i64>().expect("a number");
            match name {
                "m" => setting.members = value.split(',').map(member).collect::<Vec<_>>().leak(),
                "slots" => setting.slots = number() as u32,
                "longest" => setting.longest = number(),
                "skew" => (setting.skew, setting.usual_skew) = (number(), number()),
                "usual" => setting.usual_skew = number(),
                "error" => setting.clock_error = number(),
                "born" => setting.is_born = value == "1",
                "budget" => setting.budget = number() as u8,
                "one" => setting.is_one_process = value == "1",
                "past" => setting.past = number(),
                "end" => setting.end = Some(number()),
                "old" => setting.old = number(),
                "session" => setting.by_session = value == "1",
                "patient" => setting.is_patient = Some(value == "1"),
                "hows" => setting.hows = value.chars().map(how).collect::<Vec<_>>().leak(),
                "lefts" => setting.lefts = value.chars().map(left).collect::<Vec<_>>().leak(),
                _ => troubles.push((trouble(name), number() as u8)),
            }
        }
        setting.troubles = troubles.leak();
        setting
    }
}

impl From<&str> for Counting {
    fn from(words: &str) -> Self {
        let mut setting = COUNTING;
        let mut troubles = Vec::new();
        for (name, value) in pairs(words) {
            let number = || value.parse::<u8>().expect("a number");
            match name {
                "clients" => setting.clients = number().into(),
                "durable" => setting.durable = value == "1",
                "past" => setting.past = value == "1",
                "newest" => setting.newest = version(value == "1"),
                "takes" => setting.takes = number(),
                "skips" => setting.skips = number(),
                "hows" => setting.hows = value.chars().map(how).collect::<Vec<_>>().leak(),
                "lefts" => setting.lefts = value.chars().map(left).collect::<Vec<_>>().leak(),
                _ => troubles.push((trouble(name), number())),
            }
        }
        setting.troubles = troubles.leak();
        setting
    }
}

fn pairs(words: &str) -> impl Iterator<Item = (&str, &str)> {
    words.split_whitespace().map(|word| word.split_once('=').expect("name=value"))
}

fn trouble(name: &str) -> Trouble {
    TROUBLES.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("no trouble '{name}'")).1
}

fn member(word: &str) -> Options {
    let ttl = word.trim_matches(char::is_alphabetic).parse().expect("a ttl");
    Options {
        ttl,
        durable: word.contains('d'),
        is_other: word.contains('o'),
        keeps: word.contains('k'),
        behind: word.contains('b').into(),
        version: version(word.contains('n')),
    }
}

fn version(is_next: bool) -> Version {
    if is_next { Version::Next } else { Version::This }
}

fn how(letter: char) -> How {
    match letter {
        'r' => How::Restart,
        'p' => How::Promotion,
        'w' => How::Turn,
        't' => How::Told,
        _ => How::Position,
    }
}

fn left(letter: char) -> Left {
    match letter {
        'n' => Left::Nothing,
        'e' => Left::Everything,
        _ => Left::Saved,
    }
}
