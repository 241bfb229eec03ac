//! The gateward binary: the Dynamo Operator's webhooks and a demonstration of them.

mod demo;
mod operator;

use operator::Dynamo;

fn main() -> gateward::Exit {
    gateward::main_with(Dynamo::new(), &demo::Demo)
}
