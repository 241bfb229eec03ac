//! The command line: `serve`, `check`, `convert`, `generate` and the others.

use __crate__::Program;

#[tokio::main]
async fn main() -> gateward::Exit {
    gateward::run(Program::default()).await
}
