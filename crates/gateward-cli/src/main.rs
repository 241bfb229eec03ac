//! The gateward binary: the Dynamo Operator's webhooks, a demonstration of them, and the start of operators of others.

mod demo;
mod new;

fn main() -> gateward::Exit {
    gateward::main_with(dynamo_webhooks::operator(), &[&demo::Demo, &new::NewOperator])
}
