-- What a token is for, in the words of its maker: the login of a machine.
ALTER TABLE tokens ADD COLUMN label TEXT;
