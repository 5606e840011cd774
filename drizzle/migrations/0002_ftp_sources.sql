ALTER TABLE "pipes" ADD COLUMN "source_ftps" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "pipes" ADD COLUMN "source_ftp" boolean DEFAULT false NOT NULL;
