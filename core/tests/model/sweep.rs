//! Every combination of three troubles, each up to some tens of thousands of states, so that no hand-written setting has to
//! cover it. A window that started too early was hidden in the combination of an unheard write, a pause and a clock that is
//! set back.

use stateright::Model;

use crate::setting_text::names;
use crate::settings::Setting;
use crate::{ALWAYS, assert_holds, run};

/// States per setting, the shortest stories first: half a second.
const STATES: usize = 50_000;

/// These have separate settings: they need other members, or break a rule on purpose.
const APART: [&str; 5] = ["Again", "Sleep", "Upgrade", "Move", "NextAt"];

fn words(names: [&str; 3]) -> String {
    let has = |name| names.contains(&name);
    let skew = if has("StoreClock") { "" } else { "skew=0" };
    let error = if has("MemberClock") { "error=1" } else { "" };
    let hows = if has("Forget") { "hows=rp" } else { "" };
    format!("{} {skew} {error} {hows}", names.map(|name| format!("{name}=1")).join(" "))
}

/// Every combination of three of these.
fn threes(names: &[&'static str]) -> impl Iterator<Item = [&'static str; 3]> {
    let after = |i| i + 1..names.len();
    let pairs = (0..names.len()).flat_map(move |i| after(i).map(move |j| (i, j)));
    pairs.flat_map(move |(i, j)| after(j).map(move |k| [names[i], names[j], names[k]]))
}

#[test]
#[ignore = "takes long"]
fn any_three_troubles() {
    let names: Vec<_> = names().filter(|name| !APART.contains(name)).collect();
    for words in threes(&names).map(words) {
        let builder = Setting::from(&*words).checker().target_state_count(STATES);
        assert_holds(&words, &ALWAYS, &[], &run(&words, builder));
    }
}
