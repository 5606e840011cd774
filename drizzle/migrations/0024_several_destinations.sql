-- A file can have several destinations. The new columns are null for a file with one.
ALTER TABLE "file_destinations" ADD COLUMN "position" smallint;--> statement-breakpoint
ALTER TABLE "file_destinations" ADD COLUMN "required" boolean;--> statement-breakpoint
ALTER TABLE "file_destinations" ADD COLUMN "reason" text;--> statement-breakpoint
ALTER TABLE "file_destinations" ADD COLUMN "reason_detail" text;--> statement-breakpoint
ALTER TABLE "file_destinations" ADD COLUMN "repair_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "file_destinations" ADD COLUMN "repair_attempts" smallint;--> statement-breakpoint
ALTER TABLE "file_destinations" ADD COLUMN "repair_claim" text;--> statement-breakpoint
ALTER TABLE "file_destinations" ADD COLUMN "repair_until" timestamp (3) with time zone;
