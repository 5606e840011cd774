ALTER TABLE "events" ALTER COLUMN "payload" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "missed_status" text;--> statement-breakpoint
CREATE INDEX "events_missed" ON "events" USING btree ("pipe_id","id") WHERE "events"."missed_status" is not null;