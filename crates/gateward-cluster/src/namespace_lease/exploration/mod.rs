//! Every course that claims on one namespace can take: two holders and two replicas of the cluster-wide operator, whose
//! clocks run at different rates and tell different times, with every crash, clean end, partition and change of a webhook
//! configuration at every moment, up to a number of such events.
//!
//! [`cluster`] plays API server, processes and clocks, and has the code that ships decide ([`rules`]). What is checked stands here.

mod cluster;
mod rules;
mod settings;

use std::collections::{BTreeMap, HashMap};

use cluster::Cluster;
use rules::Rules;
use settings::{Cause, Clocks, Event, Exclusion, Holders, Presence, Settings, TICK};

/// The longest time, by a good clock, that a slow clock takes for a lease that isn't renewed: 35 seconds at 90 percent.
const EXPIRY: u8 = ticks(39);
/// The same for a holder that looks each 10 seconds, and for a webhook that has to settle for 5.
const LOOK: u8 = ticks(12);
const SETTLED: u8 = ticks(6);
/// The longest time until a new holder is known after its predecessor is gone.
const TAKE_OVER: u8 = EXPIRY + LOOK + SETTLED;
/// A change is known after one step.
const NEWS: u8 = 1;

#[expect(clippy::cast_possible_truncation, reason = "some dozens of seconds")]
const fn ticks(seconds: u32) -> u8 {
    seconds.div_ceil(TICK as u32 / 1000) as u8
}

/// What happened before a state, for who reads of a failure.
struct Course {
    states: Vec<(Cluster, u32, Event)>,
    known: HashMap<Cluster, u32>,
}

impl Course {
    fn explain(&self, mut index: u32) -> String {
        let mut lines = Vec::new();
        loop {
            let (state, before, event) = &self.states[index as usize];
            lines.push(format!("{event:?} -> {state:?}"));
            if index == *before {
                break;
            }
            index = *before;
        }
        lines.reverse();
        lines.join("\n")
    }
}

/// The longest windows that were seen, in steps of [`TICK`].
#[derive(Debug, Default)]
struct Windows {
    states: usize,
    /// In which something could be stored that nobody has judged, while a replica of the cluster-wide operator is in
    /// touch with the API server.
    unjudged: u8,
    /// In which both judge, by what happened before, while everybody is in touch.
    both: BTreeMap<Cause, u8>,
}

/// Goes through all states, breadth first.
fn explore(settings: &Settings) -> Windows {
    let start = Cluster::quiet(settings);
    let mut course = Course { states: vec![(start, 0, Event::Nothing)], known: HashMap::from([(start, 0)]) };
    let mut windows = Windows::default();
    let mut rules = Rules::new(settings);
    let mut next = 0;
    while let Some((state, _, _)) = course.states.get(next).copied() {
        for event in state.events() {
            for after in state.after(event, settings, &mut rules) {
                let index = u32::try_from(course.states.len()).unwrap();
                if course.known.contains_key(&after) {
                    continue;
                }
                course.known.insert(after, index);
                course.states.push((after, u32::try_from(next).unwrap(), event));
                if let Err(why) = judge(&after, settings, &mut rules, &mut windows) {
                    panic!("{why} with {settings:?}:\n{}", course.explain(index));
                }
            }
        }
        next += 1;
    }
    windows.states = course.states.len();
    windows
}

/// What has to hold in each state.
fn judge(state: &Cluster, settings: &Settings, rules: &mut Rules, windows: &mut Windows) -> Result<(), String> {
    judge_unjudged(state, settings, windows)?;
    judge_both(state, settings, windows)?;
    if state.quiet_for >= TAKE_OVER {
        let claimed = state.is_served_by_its_own();
        let mut asked = state.watchers.iter().filter(|watcher| watcher.alive && watcher.connected);
        if asked.clone().any(|watcher| state.passes(watcher, settings, rules) != claimed) {
            return Err(format!("a replica goes on {} the namespace", if claimed { "judging" } else { "passing" }));
        }
        if asked.next().is_some() && settings.exclusion == Exclusion::On && state.excluded != claimed {
            return Err("the selector expression is not as it should be".into());
        }
    }
    Ok(())
}

/// Nothing is ever stored that nobody has judged, unless the selector expression leaves the namespace out: that is as it
/// was written last, and is written anew once a replica of the cluster-wide operator is in touch.
fn judge_unjudged(state: &Cluster, settings: &Settings, windows: &mut Windows) -> Result<(), String> {
    let unjudged = state.unjudged_for;
    let in_touch = settings.exclusion == Exclusion::Off || state.in_touch_for > NEWS;
    if !in_touch {
        return Ok(());
    }
    windows.unjudged = windows.unjudged.max(unjudged);
    let most = if settings.exclusion == Exclusion::Off { 0 } else { NEWS };
    if unjudged > most { Err(format!("nobody judges for {unjudged} steps")) } else { Ok(()) }
}

/// Both judge for no longer than is stated, while everybody is in touch.
fn judge_both(state: &Cluster, settings: &Settings, windows: &mut Windows) -> Result<(), String> {
    if !state.is_whole() || state.cause == Cause::Nothing {
        return Ok(());
    }
    let window = windows.both.entry(state.cause).or_default();
    *window = (*window).max(state.both_for);
    let most = most_for_both(settings.holders);
    if *window > most { Err(format!("both judge for {window} steps after {:?}", state.cause)) } else { Ok(()) }
}

/// For how long both judge at most after the last event. A replica takes the lease of another one at its next look, a
/// release that of another one once it has expired; webhooks settle meanwhile.
const fn most_for_both(holders: Holders) -> u8 {
    let longest = match holders {
        Holders::Releases => EXPIRY,
        Holders::Replicas if LOOK > SETTLED => LOOK,
        Holders::Replicas => SETTLED,
    };
    longest + NEWS
}

/// Each of two clocks too slow or too fast, and one behind or ahead of the other.
fn all_clocks() -> impl Iterator<Item = Clocks> {
    let (slow, fast) = (4_500, 5_500);
    let rates =
        [[slow, fast, slow, fast], [fast, slow, fast, slow], [slow, slow, fast, fast], [fast, fast, slow, slow]];
    let skews = [-20, 20, 20, -20];
    rates.into_iter().zip(skews).map(|([one, other, left, right], skew)| Clocks {
        holders: [one, other],
        watchers: [left, right],
        skew,
    })
}

fn explore_all(holders: Holders, events: u8) {
    for exclusion in [Exclusion::Off, Exclusion::On] {
        for clocks in all_clocks() {
            let windows = explore(&Settings { holders, exclusion, presence: Presence::Asked, clocks, events });
            println!("{holders:?} {exclusion:?} {clocks:?}: {windows:?}");
            assert!(windows.states > 1_000, "hardly anything was explored");
        }
    }
}

#[test]
fn a_namespace_of_two_releases_is_judged_by_the_right_one_after_any_two_events() {
    explore_all(Holders::Releases, 2);
}

#[test]
fn a_namespace_of_two_replicas_is_judged_by_the_right_one_after_any_two_events() {
    explore_all(Holders::Replicas, 2);
}

#[test]
fn a_namespace_is_judged_by_the_right_one_after_any_three_events() {
    let clocks = all_clocks().next().unwrap();
    for exclusion in [Exclusion::Off, Exclusion::On] {
        let (holders, presence) = (Holders::Replicas, Presence::Asked);
        let windows = explore(&Settings { holders, exclusion, presence, clocks, events: 3 });
        println!("{exclusion:?}: {windows:?}");
    }
}

/// Good clocks for the holders, and two that go alike for the watchers.
fn with_events(events: u8, watchers: u16, presence: Presence) -> Settings {
    let clocks = Clocks { holders: [TICK; 2], watchers: [watchers; 2], skew: 0 };
    Settings { holders: Holders::Releases, exclusion: Exclusion::Off, presence, clocks, events }
}

/// The exploration would notice: a watcher that never lets a lease expire.
#[test]
#[should_panic(expected = "a replica goes on passing the namespace")]
fn an_exploration_finds_a_lease_that_never_expires() {
    explore(&with_events(1, 100, Presence::Asked));
}

/// The exploration would notice: a watcher that goes by what it has seen, though the webhook may be gone.
#[test]
#[should_panic(expected = "nobody judges for 1 steps")]
fn an_exploration_finds_a_claim_that_is_taken_for_granted() {
    explore(&with_events(1, TICK, Presence::TakenForGranted));
}

/// The exploration would notice: webhooks that never stand behind a claim.
#[test]
#[should_panic(expected = "both judge for")]
fn an_exploration_finds_webhooks_that_never_settle() {
    explore(&with_events(2, 100, Presence::Asked));
}
