ALTER TABLE "files" ADD COLUMN "lanes" uuid[];--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "lane_of" uuid;--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "first_byte" bigint;