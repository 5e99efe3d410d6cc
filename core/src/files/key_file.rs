//! A registry that also knows the keys whose cursors are in files. A key is reserved before its file is opened, so no other
//! thread can use it in another way meanwhile, and none waits for the disk unless it opens the same key. As long as only the
//! first file of a key knows its numbers, no second one is opened for it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use crate::files::folder::{FileIdentity, is_there};
use crate::files::shared::SharedCursor;
use crate::generator::registry::{Found, Key, Registry};
use crate::refusal::Refusal;

/// The file with the cursor of a key.
#[derive(Debug)]
pub struct KeyFile {
    cursor: Weak<SharedCursor>,
    path: PathBuf,
    identity: FileIdentity,
}

impl KeyFile {
    fn of(cursor: &Arc<SharedCursor>) -> Self {
        Self { cursor: Arc::downgrade(cursor), path: cursor.path().to_owned(), identity: cursor.identity() }
    }

    fn is_at(&self, path: &Path) -> bool {
        self.path == path || is_there(path, self.identity)
    }
}

impl fmt::Display for KeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        in_file(&self.path).fmt(f)
    }
}

fn in_file(path: &Path) -> String {
    format!("the file {}", path.display())
}

impl Registry<KeyFile> {
    /// The cursor of a key in that file.
    pub fn shared(&self, key: Key, path: &Path) -> Result<Arc<SharedCursor>, Refusal> {
        self.keep(
            &key,
            |known| known.is_at(path),
            &in_file(path),
            |found| {
                let (before, first) = match found {
                    Found::Kept(known) => (known.cursor.upgrade(), 0),
                    Found::Free { first } => (None, first),
                };
                if let Some(cursor) = &before {
                    cursor.look(); // its file may have been removed
                    if !cursor.is_ended() {
                        return Ok((cursor.clone(), None));
                    }
                }
                let cursor = SharedCursor::open(path, key.scale(), key.counter_bits(), &key.fingerprint())?;
                let first = before.map_or(first, |before| before.next());
                if cursor.next() < first {
                    cursor.go_on_at(first)?; // so that no number comes again
                }
                let known = KeyFile::of(&cursor);
                Ok((cursor, Some(known)))
            },
        )
    }
}

#[cfg(test)]
mod tests;
