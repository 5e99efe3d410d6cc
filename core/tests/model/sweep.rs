//! Every combination of three troubles, each up to some tens of thousands of states, so that no hand-written setting has to
//! cover it. A window that started too early was hidden in the combination of an unheard write, a pause and a clock that is
//! set back.

use stateright::{Checker, HasDiscoveries, Model};

use crate::setting_text::NAMES;
use crate::settings::Setting;
use crate::{ALWAYS, assert_holds};

/// States per setting, the shortest stories first: about three seconds.
const STATES: usize = 50_000;

/// These have separate settings: they need other members, or break a rule on purpose.
const APART: [&str; 4] = ["Again", "Sleep", "Upgrade", "Move"];

fn words(names: [&str; 3]) -> String {
    let has = |name| names.contains(&name);
    let skew = if has("StoreClock") { "" } else { "skew=0" };
    let error = if has("MemberClock") { "error=1" } else { "" };
    let hows = if has("Forget") { "hows=rp" } else { "" };
    format!("{} {skew} {error} {hows}", names.map(|name| format!("{name}=1")).join(" "))
}

#[test]
#[ignore = "takes long"]
fn any_three_troubles() {
    let names: Vec<_> = NAMES.into_iter().filter(|name| !APART.contains(name)).collect();
    for (i, first) in names.iter().enumerate() {
        for (j, second) in names.iter().enumerate().skip(i + 1) {
            for third in &names[j + 1..] {
                let words = words([first, second, third]);
                let checker = Setting::from(&*words).checker().target_state_count(STATES);
                let checker = checker.finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
                println!("{words}: {} states", checker.unique_state_count());
                assert_holds(&words, &ALWAYS, &[], &checker);
            }
        }
    }
}
