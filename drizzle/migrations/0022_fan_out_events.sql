-- The events that are there have all of their deliveries. Nodes of the release before write one to the first output of a
-- Pipe alone, and do not say that there are no others.
CREATE TABLE "events_to_fan_out" (
	"event_id" uuid PRIMARY KEY NOT NULL
);--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "fanned_out" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "events" ALTER COLUMN "fanned_out" SET DEFAULT false;--> statement-breakpoint
CREATE FUNCTION "note_event_to_fan_out"() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO events_to_fan_out VALUES (NEW.id) ON CONFLICT DO NOTHING; RETURN NULL; END';--> statement-breakpoint
CREATE TRIGGER "events_are_fanned_out" AFTER INSERT ON "events" FOR EACH ROW WHEN (NOT NEW.fanned_out) EXECUTE FUNCTION "note_event_to_fan_out"();
