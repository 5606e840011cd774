-- Nodes of commit 757d55c write no parts of a file with several destinations, and every other part has an ETag.
ALTER TABLE "file_parts" ALTER COLUMN "etag" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "file_parts" ADD COLUMN "further_etags" text[];
