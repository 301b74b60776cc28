//! The plugin's side of the ABI. Only [`crate::plugin!`] uses what is public here.

use crate::abi;
use crate::combine::Folder;
use crate::config::Config;
use crate::element::Element;
use crate::emitter::Emitter;
use crate::frame::{sections, Input};
use crate::register::{Each, Plugin, Work};

/// The size of HEAP at which an output frame is sent before the bundle is through, so that the memory for output stays
/// small.
const FLUSH_AT: usize = 1 << 20;

/// The other side: what the imports do.
pub(crate) trait Host {
    fn out(&mut self, frame: &[u8]) -> i32;
    fn fail(&mut self, text: &str);
}

/// A plugin at work.
pub(crate) struct Guest {
    pub(crate) plugin: Plugin,
    arenas: [Vec<u64>; 2],
    out: Emitter,
    folder: Folder,
}

impl Guest {
    pub(crate) fn new(register: fn(&mut Plugin)) -> Guest {
        let mut plugin = Plugin::default();
        register(&mut plugin);
        Guest { plugin, arenas: [Vec::new(), Vec::new()], out: Emitter::default(), folder: Folder::default() }
    }

    /// A region of at least n bytes for which, None if there is no such region.
    pub(crate) fn arena(&mut self, which: u32, n: u32) -> Option<&mut [u64]> {
        let a = self.arenas.get_mut(which as usize)?;
        if n as usize > abi::MAX_FRAME {
            return None;
        }
        let words = ((n as usize + 7) / 8).max(64);
        if a.len() < words {
            // What is in the arena is of no use to anybody: it need not be moved.
            a.clear();
            if a.try_reserve_exact(words).is_err() {
                return None;
            }
            a.resize(words, 0);
        }
        Some(a)
    }

    /// The first n bytes of the input arena.
    fn frame(arena: &[u64], n: u32) -> &[u8] {
        let n = (n as usize).min(arena.len() * 8);
        // SAFETY: the arena has at least n bytes.
        unsafe { std::slice::from_raw_parts(arena.as_ptr() as *const u8, n) }
    }

    /// Reads the open frame and hands the configuration out.
    pub(crate) fn open(&mut self, n: u32, host: &mut dyn Host) -> i32 {
        let frame = Guest::frame(&self.arenas[abi::ARENA_INPUT as usize], n);
        let mut config = Config::new(&[]);
        match sections(frame, abi::MAGIC_INPUT) {
            None => {
                host.fail("the open frame is not sound");
                return -1;
            }
            Some((_, table)) => {
                for e in table.iter().filter(|e| e.kind == abi::SECTION_CONFIG) {
                    match frame.get(e.offset as usize..).and_then(|f| f.get(..e.length as usize)) {
                        Some(text) => config = Config::new(text),
                        None => {
                            host.fail("the configuration is not inside the open frame");
                            return -1;
                        }
                    }
                }
            }
        }
        for f in &self.plugin.open {
            let mut done = f(&mut config);
            if let (Ok(()), Some(e)) = (&done, config.error.take()) {
                done = Err(e);
            }
            if let Err(e) = done {
                host.fail(&e);
                return abi::STATUS_PLUGIN_ERROR;
            }
        }
        abi::STATUS_OK
    }

    /// Works through the input frame of n bytes.
    pub(crate) fn call(&mut self, id: u32, op: u32, n: u32, host: &mut dyn Host) -> i32 {
        let f = match self.plugin.functions.get(id as usize) {
            Some(f) => f,
            None => {
                host.fail("no such function");
                return -1;
            }
        };
        let arena = &mut self.arenas[abi::ARENA_INPUT as usize];
        let cursor = Cursor::of(arena);
        let frame = Guest::frame(arena, n);
        match (&f.work, op) {
            (Work::Each(each), abi::OP_PROCESS) => process(*each, frame, cursor, &mut self.out, host),
            (Work::Fold(fold, width), abi::OP_RUN) => self.folder.run(&**fold, *width, frame, cursor, host),
            _ => {
                host.fail("the function is of another kind");
                -1
            }
        }
    }
}

/// Where the guest notes the row that it works on, for the host to look at after a trap: a word of the frame's header.
#[derive(Clone, Copy)]
pub(crate) struct Cursor(*mut u32);

impl Cursor {
    fn of(arena: &mut [u64]) -> Cursor {
        let bytes = arena.as_mut_ptr() as *mut u8;
        if arena.len() * 8 < abi::HEADER_SIZE {
            return Cursor(std::ptr::null_mut());
        }
        // SAFETY: the header is inside the arena.
        Cursor(unsafe { bytes.add(abi::AT_HEADER_CURSOR) } as *mut u32)
    }

    pub(crate) fn set(self, row: usize) {
        if !self.0.is_null() {
            // SAFETY: of gave a place inside the arena. Nobody reads the word through the frame's slices: the head that
            // sections returns is not kept, and the host reads it when the guest does not run.
            unsafe { std::ptr::write_volatile(self.0, row as u32) }
        }
    }
}

/// Has each process the rows of frame.
fn process(each: Each, frame: &[u8], cursor: Cursor, out: &mut Emitter, host: &mut dyn Host) -> i32 {
    let input = match Input::take(frame) {
        Some(t) => t,
        None => {
            host.fail("the input frame is not sound");
            return -1;
        }
    };
    let rows = input.rows.len();
    out.reset(rows);
    let mut i = 0;
    while i < rows {
        while i < rows && out.frame.len() <= FLUSH_AT {
            cursor.set(i);
            out.begin(i as u32);
            each(&Element { input: &input, row: &input.rows[i], index: i }, out);
            out.end();
            i += 1;
        }
        if i < rows || !out.is_empty() {
            if host.out(out.build(rows, i)) != abi::OUT_OK {
                return abi::STATUS_PARTIAL;
            }
            out.reset(rows);
        }
    }
    abi::STATUS_OK
}

#[cfg(target_arch = "wasm32")]
pub use exports::initialize;

#[cfg(target_arch = "wasm32")]
mod exports {
    use super::*;

    #[link(wasm_import_module = "wgate1")]
    extern "C" {
        #[link_name = "out"]
        fn import_out(ptr: *const u8, n: u32) -> i32;
        #[link_name = "fail"]
        fn import_fail(ptr: *const u8, n: u32);
    }

    extern "C" {
        fn __wasm_call_ctors();
    }

    /// wgate.
    struct Wgate;

    impl Host for Wgate {
        fn out(&mut self, frame: &[u8]) -> i32 {
            // SAFETY: the host reads the slice before it returns.
            unsafe { import_out(frame.as_ptr(), frame.len() as u32) }
        }

        fn fail(&mut self, text: &str) {
            // SAFETY: as above.
            unsafe { import_fail(text.as_ptr(), text.len() as u32) }
        }
    }

    static mut GUEST: Option<Guest> = None;

    /// The one guest. An instance is used by one thread, and no export calls another.
    fn guest() -> &'static mut Guest {
        // SAFETY: see above; the host calls _initialize first.
        unsafe {
            match &mut *std::ptr::addr_of_mut!(GUEST) {
                Some(g) => g,
                None => std::process::abort(),
            }
        }
    }

    /// Is what the export `_initialize` does.
    pub fn initialize(register: fn(&mut Plugin)) {
        // SAFETY: the host calls this once, first. That something calls the constructors keeps the linker from wrapping
        // every export with them.
        unsafe {
            __wasm_call_ctors();
            std::panic::set_hook(Box::new(|info| Wgate.fail(&info.to_string())));
            *std::ptr::addr_of_mut!(GUEST) = Some(Guest::new(register));
        }
    }

    #[no_mangle]
    extern "C" fn wgate_abi_1() {}

    #[no_mangle]
    extern "C" fn wgate_arena(which: u32, n: u32) -> *mut u64 {
        guest().arena(which, n).map_or(std::ptr::null_mut(), |a| a.as_mut_ptr())
    }

    #[no_mangle]
    extern "C" fn wgate_open(n: u32) -> i32 {
        guest().open(n, &mut Wgate)
    }

    #[no_mangle]
    extern "C" fn wgate_call(id: u32, op: u32, n: u32) -> i32 {
        guest().call(id, op, n, &mut Wgate)
    }

    #[no_mangle]
    extern "C" fn wgate_close(_reason: u32) -> i32 {
        abi::STATUS_OK
    }

    #[no_mangle]
    extern "C" fn wgate_describe() -> i32 {
        match Wgate.out(&guest().plugin.manifest()) {
            abi::OUT_OK => abi::STATUS_OK,
            _ => abi::STATUS_PLUGIN_ERROR,
        }
    }
}

/// Makes the crate a plugin: it exports what a host calls, and register is called once, before anything else.
#[macro_export]
macro_rules! plugin {
    ($register:path) => {
        #[cfg(target_arch = "wasm32")]
        #[no_mangle]
        pub extern "C" fn _initialize() {
            $crate::guest::initialize($register);
        }
    };
}
