//! A handler that holds an `Rc` while it waits.

use gateward_core::{handler, Request, Validator, Verdict, resource};

#[derive(serde::Serialize, serde::Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example.org/v1", "Otter", "otters");

struct OtterRules;

#[handler]
impl Validator<Otter> for OtterRules {
    async fn create(&self, _: &Otter, _: &Request) -> Verdict {
        let seen = std::rc::Rc::new(1);
        std::future::ready(()).await;
        drop(seen);
        Verdict::allow()
    }
}

fn main() {}
