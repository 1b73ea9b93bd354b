-- Sessions and their nodes. JSON is text as it was written; times are milliseconds since 1970.

CREATE TABLE sessions (
    key        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    title      TEXT    NOT NULL
) STRICT;

-- The order of a list of sessions.
CREATE INDEX sessions_by_age ON sessions (created_at, key);

CREATE TABLE nodes (
    key          INTEGER PRIMARY KEY,
    session      INTEGER NOT NULL REFERENCES sessions (key),
    -- From 1 without gaps in each session.
    seq          INTEGER NOT NULL,
    id           TEXT    NOT NULL UNIQUE,
    kind         TEXT    NOT NULL CHECK (kind IN ('user', 'llm', 'code')),
    status       TEXT    NOT NULL CHECK (status IN ('open', 'completed', 'failed', 'cancelled')),
    expose       TEXT    NOT NULL CHECK (expose IN ('io', 'llm', 'full', 'hidden')),

    -- Edges are ids of nodes of the same session, checked on append. They are no foreign keys:
    -- each would need an index of its own as soon as a session is deleted.
    caller       TEXT,
    predecessor  TEXT,
    -- The function inside which the node is seen, and the same for turns and for calls right
    -- below it. NULL is everywhere in the session.
    scope        TEXT,
    turn_scope   TEXT,
    call_scope   TEXT,

    started_at   INTEGER NOT NULL,
    finished_at  INTEGER,
    name         TEXT    NOT NULL,
    render_range TEXT    NOT NULL,
    facts        TEXT    NOT NULL,
    doc          TEXT,
    input        TEXT    NOT NULL,
    -- Places in the order, runs of them as `first-last`: `1-40,52`.
    reads        TEXT    NOT NULL,

    output       TEXT,
    failure      TEXT,
    usage        TEXT,
    attempts     TEXT,
    end_facts    TEXT,

    UNIQUE (session, seq),
    CHECK ((status = 'open') = (finished_at IS NULL))
) STRICT;

-- What a frame may see, in order, without passing what it may not see.
CREATE INDEX nodes_by_scope ON nodes (session, scope, seq);
