//! What differs between two explorations, and what can happen in one.

/// A step of the world.
pub(super) const TICK: u16 = 5_000;

#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub(super) holders: Holders,
    pub(super) exclusion: Exclusion,
    pub(super) presence: Presence,
    pub(super) clocks: Clocks,
    /// How many events there are in a course.
    pub(super) events: u8,
}

/// What the two holders are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holders {
    /// Operators of two releases, each with a webhook configuration of its own.
    Releases,
    /// Two replicas of one.
    Replicas,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exclusion {
    On,
    Off,
}

/// Whether a replica of the cluster-wide operator asks for the webhooks before it passes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Asked,
    /// It goes by what it has seen: not what ships, but what the exploration has to find fault with.
    TakenForGranted,
}

/// What each clock measures in a step of the world, and by how many seconds those of two holders differ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clocks {
    pub(super) holders: [u16; 2],
    pub(super) watchers: [u16; 2],
    pub(super) skew: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Nothing,
    Crash(usize),
    /// A clean end.
    Stop(usize),
    Start(usize),
    Cut(usize),
    Heal(usize),
    RemoveWebhook(usize),
    AddWebhook(usize),
    CrashWatcher(usize),
    StartWatcher(usize),
    CutWatcher(usize),
    HealWatcher(usize),
}

/// A sort of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Cause {
    Nothing,
    Crash,
    Stop,
    Start,
    Cut,
    Heal,
    RemoveWebhook,
    AddWebhook,
    CrashWatcher,
    StartWatcher,
    CutWatcher,
    HealWatcher,
}

impl Cause {
    pub(super) fn of(event: Event) -> Self {
        match event {
            Event::Nothing => Self::Nothing,
            Event::Crash(_) => Self::Crash,
            Event::Stop(_) => Self::Stop,
            Event::Start(_) => Self::Start,
            Event::Cut(_) => Self::Cut,
            Event::Heal(_) => Self::Heal,
            Event::RemoveWebhook(_) => Self::RemoveWebhook,
            Event::AddWebhook(_) => Self::AddWebhook,
            Event::CrashWatcher(_) => Self::CrashWatcher,
            Event::StartWatcher(_) => Self::StartWatcher,
            Event::CutWatcher(_) => Self::CutWatcher,
            Event::HealWatcher(_) => Self::HealWatcher,
        }
    }
}
