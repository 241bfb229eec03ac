//! Every course that claims on one namespace can take: two holders and two replicas of the cluster-wide operator, whose
//! clocks run at different rates and tell different times, with every crash, clean end, partition and change of a webhook
//! configuration at every moment, up to a number of such events.
//!
//! [`cluster`] plays API server, processes and clocks, and has the code that ships decide. What is checked stands here.

mod cluster;

use std::collections::HashMap;

use cluster::{Clocks, Cluster, Event, Exclusion, Holders, Settings, TICK};

/// The longest time, by a good clock, that a slow clock takes for a lease that isn't renewed: 35 seconds at 90 percent.
const EXPIRY: u8 = ticks(39);
/// The same until a new holder is known: it looks each 10 seconds, and its webhook has to settle for 5.
const TAKE_OVER: u8 = EXPIRY + ticks(12 + 6) + 1;
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

/// What was seen of the windows, in steps of [`TICK`].
#[derive(Debug, Default)]
struct Windows {
    states: usize,
    unjudged: u8,
    unjudged_while_connected: u8,
}

/// Goes through all states, breadth first.
fn explore(settings: &Settings) -> Windows {
    let start = Cluster::quiet(settings);
    let mut course = Course { states: vec![(start, 0, Event::Nothing)], known: HashMap::from([(start, 0)]) };
    let mut windows = Windows::default();
    let mut rules = cluster::Rules::new(settings);
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
                if let Err(why) = judge(&after, settings, &mut windows) {
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
fn judge(state: &Cluster, settings: &Settings, windows: &mut Windows) -> Result<(), String> {
    let unjudged = state.unjudged_for;
    let in_touch = state.watchers.iter().any(|watcher| watcher.alive && watcher.connected);
    let all_in_touch = state.watchers.iter().all(|watcher| !watcher.alive || watcher.connected);
    let alive = state.watchers.iter().any(|watcher| watcher.alive);
    let patched = settings.exclusion == Exclusion::Off || in_touch;
    if alive && patched {
        windows.unjudged = windows.unjudged.max(unjudged);
        if unjudged > EXPIRY + NEWS {
            return Err(format!("nobody judges for {unjudged} steps"));
        }
        if all_in_touch && state.in_touch_for > NEWS && unjudged > NEWS {
            return Err(format!("nobody judges for {unjudged} steps though every replica is in touch"));
        }
        if all_in_touch && state.in_touch_for > NEWS {
            windows.unjudged_while_connected = windows.unjudged_while_connected.max(unjudged);
        }
    }
    if state.quiet_for >= TAKE_OVER {
        let claimed = state.is_served_by_its_own();
        let skipping = state.watchers.iter().filter(|watcher| watcher.alive && watcher.connected);
        if skipping.clone().any(|watcher| watcher.skips != claimed) {
            return Err(format!("a replica goes on {} the namespace", if claimed { "judging" } else { "passing" }));
        }
        if in_touch && settings.exclusion == Exclusion::On && state.excluded != claimed {
            return Err("the selector expression is not as it should be".into());
        }
    }
    Ok(())
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
            let windows = explore(&Settings { holders, exclusion, clocks, events });
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
        let windows = explore(&Settings { holders: Holders::Replicas, exclusion, clocks, events: 3 });
        println!("{exclusion:?}: {windows:?}");
    }
}

/// The exploration would notice: a watcher that never lets a lease expire.
#[test]
#[should_panic(expected = "a replica goes on passing the namespace")]
fn an_exploration_finds_a_lease_that_never_expires() {
    let clocks = Clocks { holders: [5_000, 5_000], watchers: [100, 100], skew: 0 };
    explore(&Settings { holders: Holders::Releases, exclusion: Exclusion::Off, clocks, events: 1 });
}
