use crate::abi;
use crate::combine::{ByteFold, Fold, Folding, Plain};
use crate::config::Config;
use crate::element::Element;
use crate::emitter::Emitter;
use crate::number::push_int;
use crate::text::push_string;

/// Processes one element. The element and what it gives are good until it returns.
pub type Each = fn(&Element, &mut Emitter);

/// Reads the configuration before the first element comes. An error refuses it; the pipeline does not start then.
pub type OnOpen = fn(&mut Config) -> Result<(), String>;

/// What a registered function does.
pub(crate) enum Work {
    Each(Each),
    /// A combiner with its number of arguments.
    Fold(Box<dyn Folding>, usize),
}

/// One registered function; its id is its place in [`Plugin`].
pub struct Function {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    tags: &'static [&'static str],
    pure: bool,
    total: bool,
}

impl Function {
    /// Names the side outputs of the function. The first is `Tag(1)`.
    pub fn tags(&mut self, names: &'static [&'static str]) -> &mut Self {
        self.tags = names;
        self
    }

    /// Says that the same element always gives the same output, so that it can be taken back by running it again.
    pub fn pure(&mut self) -> &mut Self {
        self.pure = true;
        self
    }

    /// Says that a combiner refuses no element, so that the host does not check each element first.
    pub fn total(&mut self) -> &mut Self {
        self.total = true;
        self
    }

    fn kind(&self) -> &'static str {
        match self.work {
            Work::Each(_) => "dofn",
            Work::Fold(..) => "combiner",
        }
    }
}

/// What a plugin registers.
#[derive(Default)]
pub struct Plugin {
    name: &'static str,
    version: &'static str,
    pub(crate) functions: Vec<Function>,
    pub(crate) open: Vec<OnOpen>,
}

impl Plugin {
    /// Names the plugin and its version.
    pub fn name(&mut self, name: &'static str, version: &'static str) {
        self.name = name;
        self.version = version;
    }

    /// Registers a function that is called for each element, as `plugin.NAME.name` in a pipeline; name is made of letters,
    /// digits and `_`.
    pub fn do_fn(&mut self, name: &'static str, each: Each) -> &mut Function {
        self.add(name, Work::Each(each))
    }

    /// Registers a function that folds the elements of a key and window together, as `plugin.NAME.name` in the compute of an
    /// aggregate. args is the number of its arguments.
    pub fn combiner<A: Plain>(&mut self, name: &'static str, args: usize, fold: Fold<A>) -> &mut Function {
        self.add(name, Work::Fold(Box::new(fold), args))
    }

    /// Is [`Plugin::combiner`] for accumulators that are bytes.
    pub fn byte_combiner(&mut self, name: &'static str, args: usize, fold: ByteFold) -> &mut Function {
        self.add(name, Work::Fold(Box::new(fold), args))
    }

    /// Registers a function that reads the configuration.
    pub fn on_open(&mut self, f: OnOpen) {
        self.open.push(f);
    }

    fn add(&mut self, name: &'static str, work: Work) -> &mut Function {
        self.functions.push(Function { name, work, tags: &[], pure: false, total: false });
        let last = self.functions.len() - 1;
        &mut self.functions[last]
    }

    /// The manifest that `wgate plugin pack` finds, as JSON.
    pub fn manifest(&self) -> Vec<u8> {
        let mut b = b"{\"abi\":".to_vec();
        push_int(&mut b, abi::MAJOR as i64);
        b.extend_from_slice(b",\"name\":");
        push_string(&mut b, self.name.as_bytes());
        b.extend_from_slice(b",\"version\":");
        push_string(&mut b, self.version.as_bytes());
        b.extend_from_slice(b",\"sdk\":");
        push_string(&mut b, format!("rust {}", crate::VERSION).as_bytes());
        b.extend_from_slice(b",\"functions\":[");
        for (i, f) in self.functions.iter().enumerate() {
            if i > 0 {
                b.push(b',');
            }
            b.extend_from_slice(b"{\"id\":");
            push_int(&mut b, i as i64);
            b.extend_from_slice(b",\"name\":");
            push_string(&mut b, f.name.as_bytes());
            b.extend_from_slice(b",\"kind\":");
            push_string(&mut b, f.kind().as_bytes());
            if let Work::Fold(fold, args) = &f.work {
                b.extend_from_slice(b",\"args\":");
                push_int(&mut b, *args as i64);
                if f.total {
                    b.extend_from_slice(b",\"total\":true");
                }
                if fold.invertible() {
                    b.extend_from_slice(b",\"uncombine\":true");
                }
            }
            for (j, t) in f.tags.iter().enumerate() {
                b.extend_from_slice(if j == 0 { b",\"tags\":[" } else { b"," });
                push_string(&mut b, t.as_bytes());
            }
            if !f.tags.is_empty() {
                b.push(b']');
            }
            if f.pure {
                b.extend_from_slice(b",\"pure\":true");
            }
            b.push(b'}');
        }
        b.extend_from_slice(b"]}");
        b
    }
}
