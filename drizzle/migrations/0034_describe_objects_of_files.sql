ALTER TABLE "files" ADD COLUMN "object" jsonb;--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "folder" text;--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "verify_content" boolean;--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "found_type" text;--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "declared_crc32" bigint;