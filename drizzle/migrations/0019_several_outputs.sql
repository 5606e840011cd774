-- A Pipe and a workspace can have several outputs.
ALTER TABLE "webhook_outputs" ALTER COLUMN "pipe_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_outputs" ADD COLUMN "further_pipe_id" text;--> statement-breakpoint
ALTER TABLE "webhook_outputs" ADD COLUMN "scope" text GENERATED ALWAYS AS (coalesce(pipe_id, further_pipe_id, workspace_id::text)) STORED NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_outputs" ADD COLUMN "name" text DEFAULT 'Webhook' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_outputs" ADD COLUMN "events" text[] DEFAULT '{"file.status_changed"}' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_outputs" ADD COLUMN "headers_encrypted" text;--> statement-breakpoint
ALTER TABLE "webhook_outputs" ADD COLUMN "header_names" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_outputs" ADD COLUMN "missed_after" timestamp (3) with time zone;
