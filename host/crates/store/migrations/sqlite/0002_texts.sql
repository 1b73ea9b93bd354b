-- Texts too long for a row, each once, whoever holds it. A column that holds one has `@` and its
-- key in its place.

CREATE TABLE texts (
    key    INTEGER PRIMARY KEY,
    -- SHA-256 of the text.
    digest BLOB NOT NULL UNIQUE,
    text   TEXT NOT NULL
) STRICT;

-- Which sessions hold which texts: what no session holds goes with the last that did.
CREATE TABLE text_uses (
    session INTEGER NOT NULL REFERENCES sessions (key),
    text    INTEGER NOT NULL REFERENCES texts (key),
    PRIMARY KEY (session, text)
) STRICT, WITHOUT ROWID;

CREATE INDEX text_uses_by_text ON text_uses (text);
