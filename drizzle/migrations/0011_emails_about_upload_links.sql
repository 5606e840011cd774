ALTER TABLE "upload_links" ADD COLUMN "notify_email" text;--> statement-breakpoint
ALTER TABLE "upload_links" ADD COLUMN "receipts" boolean DEFAULT false NOT NULL;