-- A fork reads the nodes of its base up to a place, and has its own after it.

ALTER TABLE sessions ADD COLUMN base INTEGER REFERENCES sessions (key);
ALTER TABLE sessions ADD COLUMN base_seq INTEGER;
-- Places in the order of nodes that had not ended there, as runs.
ALTER TABLE sessions ADD COLUMN base_open TEXT;

CREATE INDEX sessions_by_base ON sessions (base) WHERE base IS NOT NULL;
