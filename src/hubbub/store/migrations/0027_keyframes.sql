-- How many cards a keyframe has: the next is due when as much has happened.
ALTER TABLE keyframes ADD COLUMN cards INTEGER NOT NULL DEFAULT 0;
