CREATE INDEX CONCURRENTLY IF NOT EXISTS "file_destinations_to_repair" ON "file_destinations" USING btree ("repair_at") WHERE "file_destinations"."repair_at" is not null;
