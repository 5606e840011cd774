CREATE INDEX CONCURRENTLY IF NOT EXISTS "webhook_outputs_scope_index" ON "webhook_outputs" USING btree ("scope");
