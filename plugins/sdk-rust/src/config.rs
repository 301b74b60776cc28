use crate::scanner::{Kind, Scanner};

/// The plugin's configuration, a JSON object. A field that is absent or null gives the default; one of another type is an
/// error that refuses the plugin.
pub struct Config {
    text: Vec<u8>,
    pub(crate) error: Option<String>,
}

impl Config {
    pub(crate) fn new(text: &[u8]) -> Config {
        Config { text: text.to_vec(), error: None }
    }

    /// Gives field name to get. Of a name that occurs twice the last one counts.
    fn read<T>(&mut self, name: &str, def: T, want: &str, get: impl Fn(&Scanner) -> Option<T>) -> T {
        let mut s = Scanner::new(&self.text);
        let mut hit = None;
        while s.next() {
            if s.name() == name.as_bytes() {
                hit = if s.kind() == Kind::Null { None } else { Some(get(&s)) };
            }
        }
        match hit {
            None => def,
            Some(Some(v)) => v,
            Some(None) => {
                if self.error.is_none() {
                    self.error = Some(format!("config.{} must be {}", name, want));
                }
                def
            }
        }
    }

    /// An integer field.
    pub fn int(&mut self, name: &str, def: i64) -> i64 {
        self.read(name, def, "an int", |s| s.int())
    }

    /// A number.
    pub fn float(&mut self, name: &str, def: f64) -> f64 {
        self.read(name, def, "a number", |s| s.float())
    }

    /// A string.
    pub fn string(&mut self, name: &str, def: &str) -> String {
        self.read(name, def.to_string(), "a string", |s| String::from_utf8(s.text()?.into_owned()).ok())
    }

    /// A bool.
    pub fn bool(&mut self, name: &str, def: bool) -> bool {
        self.read(name, def, "a bool", |s| s.bool())
    }

    /// The whole configuration as JSON text, empty if there is none.
    pub fn json(&self) -> &[u8] {
        &self.text
    }
}
