ALTER TABLE agents ADD COLUMN description TEXT;
