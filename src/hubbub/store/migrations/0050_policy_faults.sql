-- Why a machine's policy does not load, so that it denies everything; null while it does.
ALTER TABLE machines ADD COLUMN policy_fault TEXT;
