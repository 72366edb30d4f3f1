-- Of a webhook that was removed nobody needs the address, which may hold a secret, nor what signed its letters.
UPDATE webhooks SET url = '', secret = '' WHERE removed_at IS NOT NULL;
