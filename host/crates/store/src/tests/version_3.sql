-- A database as version 3 left it: a session whose first text stands apart, and a fork of it after
-- that turn. Never changed again.
CREATE TABLE sessions (
 key INTEGER PRIMARY KEY,
 id TEXT NOT NULL UNIQUE,
 created_at INTEGER NOT NULL,
 title TEXT NOT NULL
, base INTEGER REFERENCES sessions (key), base_seq INTEGER, base_open TEXT) STRICT;
CREATE INDEX sessions_by_age ON sessions (created_at, key);
CREATE TABLE nodes (
 key INTEGER PRIMARY KEY,
 session INTEGER NOT NULL REFERENCES sessions (key),
 seq INTEGER NOT NULL,
 id TEXT NOT NULL UNIQUE,
 kind TEXT NOT NULL CHECK (kind IN ('user', 'llm', 'code')),
 status TEXT NOT NULL CHECK (status IN ('open', 'completed', 'failed', 'cancelled')),
 expose TEXT NOT NULL CHECK (expose IN ('io', 'llm', 'full', 'hidden')),
 caller TEXT,
 predecessor TEXT,
 scope TEXT,
 turn_scope TEXT,
 call_scope TEXT,
 started_at INTEGER NOT NULL,
 finished_at INTEGER,
 name TEXT NOT NULL,
 render_range TEXT NOT NULL,
 facts TEXT NOT NULL,
 doc TEXT,
 input TEXT NOT NULL,
 reads TEXT NOT NULL,
 output TEXT,
 failure TEXT,
 usage TEXT,
 attempts TEXT,
 end_facts TEXT,
 UNIQUE (session, seq),
 CHECK ((status = 'open') = (finished_at IS NULL))
) STRICT;
CREATE INDEX nodes_by_scope ON nodes (session, scope, seq);
CREATE TABLE texts (
 key INTEGER PRIMARY KEY,
 digest BLOB NOT NULL UNIQUE,
 text TEXT NOT NULL
) STRICT;
CREATE TABLE text_uses (
 session INTEGER NOT NULL REFERENCES sessions (key),
 text INTEGER NOT NULL REFERENCES texts (key),
 PRIMARY KEY (session, text)
) STRICT, WITHOUT ROWID;
CREATE INDEX text_uses_by_text ON text_uses (text);
CREATE INDEX sessions_by_base ON sessions (base) WHERE base IS NOT NULL;
INSERT INTO sessions VALUES (1, 'op-0000000000000001', 0, 'a session', NULL, NULL, NULL);
INSERT INTO sessions VALUES (2, 'op-0000000000000002', 5, 'a fork', 1, 1, '');
INSERT INTO texts VALUES (1, X'5aa762ae383fbb727af3c7a36d4940a5b8c40a989452d2304fc958ff3f354e7a', '"hello"');
INSERT INTO text_uses VALUES (1, 1);
INSERT INTO nodes VALUES (1, 1, 1, 'n-0000000000000001', 'llm', 'completed', 'io', NULL, NULL, NULL,
 NULL, NULL, 0, 1, 'model', '{"callers":null,"subcalls":null}', '{}', NULL, '@1', '', '"a reply"',
 NULL, NULL, '[]', '{}');
INSERT INTO nodes VALUES (2, 1, 2, 'n-0000000000000002', 'code', 'open', 'full', 'n-0000000000000001',
 NULL, NULL, NULL, NULL, 2, NULL, 'demo.f', '{"callers":0,"subcalls":null}', '{}', 'Doc.', '{}', '1',
 NULL, NULL, NULL, NULL, NULL);
PRAGMA application_id = 1330672487;
PRAGMA user_version = 3;
