//! The gateward binary: the Dynamo Operator's webhooks and a demonstration of them.

mod demo;

fn main() -> gateward::Exit {
    gateward::main_with(dynamo_webhooks::operator(), &demo::Demo)
}
