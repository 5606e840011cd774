ALTER TABLE "senders" ADD COLUMN "group_id" uuid;--> statement-breakpoint
ALTER TABLE "senders" ADD COLUMN "pipe_ids" text[];--> statement-breakpoint
ALTER TABLE "senders" ADD COLUMN "sources" text[];--> statement-breakpoint
ALTER TABLE "senders" ADD COLUMN "silent_hours" integer;--> statement-breakpoint
ALTER TABLE "senders" ADD COLUMN "last_address" text;--> statement-breakpoint
ALTER TABLE "senders" ADD COLUMN "last_file_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "senders" ADD COLUMN "transferred_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "senders" ADD COLUMN "refused_count" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "senders" ADD COLUMN "refused_at" timestamp (3) with time zone;