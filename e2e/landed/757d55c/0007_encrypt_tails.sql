ALTER TABLE "files" ADD COLUMN "sealed_fence" integer;--> statement-breakpoint
ALTER TABLE "upload_tails" ADD COLUMN "key" text;--> statement-breakpoint
-- A release that does not encrypt tails finds a file that has encrypted ones locked, however it asks, and all others free.
CREATE FUNCTION "keep_lease"() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';--> statement-breakpoint
CREATE TRIGGER "sealed_tails_need_their_release" BEFORE UPDATE OF "lease_fence" ON "files" FOR EACH ROW
	WHEN (OLD."sealed_fence" IS NOT NULL AND NEW."lease_holder" IS NOT NULL AND NEW."sealed_fence" IS DISTINCT FROM NEW."lease_fence")
	EXECUTE FUNCTION "keep_lease"();
