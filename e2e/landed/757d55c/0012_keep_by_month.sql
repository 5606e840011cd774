-- Timelines, events, deliveries and attempts become tables of months, by the time in their ids, so that an old month is
-- dropped as a whole. What is there becomes the first month, unmoved: it is read once, to see that its ids belong there.
-- contract: the tables, columns and keys keep their names; the two indexes that go were for pruning row by row only
LOCK TABLE "workspaces", "files", "file_timeline", "attempts", "events", "deliveries" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
ALTER TABLE "attempts" DROP CONSTRAINT "attempts_delivery_id_deliveries_id_fk";--> statement-breakpoint
ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_event_id_events_id_fk";--> statement-breakpoint
DROP INDEX "deliveries_by_age";--> statement-breakpoint
DROP INDEX "events_created_at_index";--> statement-breakpoint
DO $$
DECLARE
	month text := to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM');
	name text;
	index text;
BEGIN
	FOREACH name IN ARRAY ARRAY['file_timeline', 'events', 'deliveries', 'attempts'] LOOP
		EXECUTE format('ALTER TABLE %I RENAME TO %I', name, name || '_' || month);
		FOR index IN SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
			WHERE indrelid = (name || '_' || month)::regclass LOOP
			EXECUTE format('ALTER INDEX %I RENAME TO %I', index, name || '_' || month || substr(index, length(name) + 1));
		END LOOP;
		EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS) PARTITION BY RANGE (id)', name, name || '_' || month);
		EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', name || '_default', name);
	END LOOP;
END $$;--> statement-breakpoint
ALTER TABLE "file_timeline" ADD PRIMARY KEY ("id");--> statement-breakpoint
ALTER TABLE "events" ADD PRIMARY KEY ("id");--> statement-breakpoint
ALTER TABLE "deliveries" ADD PRIMARY KEY ("id");--> statement-breakpoint
ALTER TABLE "attempts" ADD PRIMARY KEY ("id");--> statement-breakpoint
ALTER TABLE "file_timeline" ADD CONSTRAINT "file_timeline_file_id_files_id_fk" FOREIGN KEY ("file_id") REFERENCES "files"("id") ON DELETE cascade;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE cascade;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE cascade;--> statement-breakpoint
CREATE INDEX "file_timeline_file_id_id_index" ON "file_timeline" USING btree ("file_id","id");--> statement-breakpoint
CREATE INDEX "events_workspace_id_id_index" ON "events" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "events_file_id_index" ON "events" USING btree ("file_id");--> statement-breakpoint
CREATE INDEX "events_missed" ON "events" USING btree ("pipe_id","id") WHERE "events"."missed_status" is not null;--> statement-breakpoint
CREATE INDEX "deliveries_by_workspace" ON "deliveries" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "deliveries_by_workspace_state" ON "deliveries" USING btree ("workspace_id","state","id");--> statement-breakpoint
CREATE INDEX "deliveries_by_pipe" ON "deliveries" USING btree ("pipe_id","id");--> statement-breakpoint
CREATE INDEX "deliveries_by_pipe_state" ON "deliveries" USING btree ("pipe_id","state","id");--> statement-breakpoint
CREATE INDEX "deliveries_by_file" ON "deliveries" USING btree ("file_id");--> statement-breakpoint
CREATE INDEX "deliveries_by_event" ON "deliveries" USING btree ("event_id");--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("webhook_output_id","next_attempt_at") WHERE "deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "attempts_delivery_id_id_index" ON "attempts" USING btree ("delivery_id","id");--> statement-breakpoint
-- Ids that a clock which was ahead has made go to the default table first.
DO $$
DECLARE
	month text := to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM');
	end_ms bigint := extract(epoch FROM date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month') * 1000;
	end_id uuid := (lpad(to_hex(end_ms), 12, '0') || '70008000000000000000')::uuid;
	name text;
BEGIN
	FOREACH name IN ARRAY ARRAY['file_timeline', 'events', 'deliveries', 'attempts'] LOOP
		EXECUTE format('WITH later AS (DELETE FROM %I WHERE id >= %L RETURNING *) INSERT INTO %I SELECT * FROM later',
			name || '_' || month, end_id, name || '_default');
		EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', name, name || '_' || month, end_id);
	END LOOP;
END $$;--> statement-breakpoint
CREATE FUNCTION "delete_deliveries"() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN DELETE FROM deliveries WHERE event_id = OLD.id; RETURN NULL; END';--> statement-breakpoint
CREATE TRIGGER "deliveries_go_with_their_event" AFTER DELETE ON "events" FOR EACH ROW EXECUTE FUNCTION "delete_deliveries"();--> statement-breakpoint
CREATE FUNCTION "delete_attempts"() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN DELETE FROM attempts WHERE delivery_id = OLD.id; RETURN NULL; END';--> statement-breakpoint
CREATE TRIGGER "attempts_go_with_their_delivery" AFTER DELETE ON "deliveries" FOR EACH ROW EXECUTE FUNCTION "delete_attempts"();
