//! The gateward binary: the Dynamo Operator's webhooks and a demonstration of them.

mod demo;
mod product;

use product::Dynamo;

#[tokio::main]
async fn main() -> gateward::Exit {
    gateward::run_with(Dynamo::new(), &demo::Demo).await
}
