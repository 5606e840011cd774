ALTER TABLE "pipes" ADD COLUMN "object" jsonb;--> statement-breakpoint
ALTER TABLE "pipes" ADD COLUMN "verify_content" boolean DEFAULT false NOT NULL;