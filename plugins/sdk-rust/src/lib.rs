//! The SDK for wgate plugins in Rust. A plugin registers its functions in one function and hands that to [`plugin!`]:
//!
//! ```
//! use wgate::{Element, Emitter, Plugin};
//!
//! fn register(p: &mut Plugin) {
//!     p.name("scores", "1.0.0");
//!     p.do_fn("score", score);
//! }
//!
//! fn score(e: &Element, out: &mut Emitter) {
//!     if e.value().map_or(true, |v| v.is_empty()) {
//!         out.fail("empty_value", "the value is empty");
//!         return;
//!     }
//!     out.keep();
//! }
//!
//! wgate::plugin!(register);
//! ```
//!
//! Build it as a `cdylib` and pack it with
//!
//! ```text
//! cargo build --release --target wasm32-wasip1
//! wgate plugin pack target/wasm32-wasip1/release/scores.wasm
//! ```
//!
//! The profile should say `panic = "abort"`, `lto = true` and `opt-level = 3`.
//!
//! [`Plugin::combiner`] registers a function that folds many elements together, for the compute of an aggregate; its
//! accumulators ([`accumulator!`]) live in wgate's state store.
//!
//! # Speed
//!
//! A function is called for every element, so it should allocate nothing. Read JSON with [`Element::scan`], write it with
//! [`Emitter::object`]; both work on the bytes as they are. Prefer [`Emitter::keep`] to emitting an equal value: a row that
//! is kept is not copied at all.
//!
//! # Rules
//!
//! The bytes that an [`Element`] gives belong to the host's frame and are good until the function returns. What a function
//! remembers in statics is at best a cache: any instance of the plugin may be asked about any element, and an instance may
//! be replaced at any moment. Time is [`Element::time`] and, for processing time, the system clock, which stands still
//! during a call.
//!
//! A panic ends the instance; the host takes out the element at hand, with the panic's message and place in the dead
//! letters, and goes on with the others on a fresh instance. [`Emitter::fail`] costs much less.
//!
//! # Tests
//!
//! [`Harness`] runs the registered functions natively through the frames of the real host: tests of a plugin are plain
//! `cargo test`.

#[allow(dead_code)]
mod abi;
mod combine;
mod config;
mod element;
mod emitter;
mod frame;
#[doc(hidden)]
pub mod guest;
mod harness;
mod harness_combine;
mod number;
mod object;
mod register;
mod scanner;
mod text;

pub use combine::{Answer, Args, ByteFold, Fold, Plain};
pub use config::Config;
pub use element::{Element, Form, Pane};
pub use emitter::{Emitter, Level, Row, Tag};
pub use harness::{Failure, Harness, HarnessRow, Outcome};
pub use harness_combine::HarnessValue;
pub use number::push_float;
pub use object::Object;
pub use register::{Function, Plugin};
pub use scanner::{Kind, ScanError, Scanner};

/// The version of the SDK.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
