ALTER TABLE "pipe_hooks" ADD COLUMN "failing_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "pipe_hooks" ADD COLUMN "fault" text;