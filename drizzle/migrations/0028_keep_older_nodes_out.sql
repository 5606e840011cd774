CREATE TABLE "repaired_parts" (
	"file_id" uuid NOT NULL,
	"data_store_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"size_bytes" bigint NOT NULL,
	"etag" text NOT NULL,
	"crc32" bigint NOT NULL,
	CONSTRAINT "repaired_parts_file_id_data_store_id_number_pk" PRIMARY KEY("file_id","data_store_id","number")
);
--> statement-breakpoint
ALTER TABLE "repaired_parts" ADD CONSTRAINT "repaired_parts_file_id_files_id_fk" FOREIGN KEY ("file_id") REFERENCES "public"."files"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- Nodes of commit 757d55c would send a file to one of its destinations alone. A file with several has -1 as its `sealed_fence`, which
-- those nodes overwrite when they take a lease, and nobody else does: so they find the file locked.
CREATE FUNCTION "keep_lease"() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';--> statement-breakpoint
CREATE TRIGGER "older_nodes_take_no_lease" BEFORE UPDATE ON "files" FOR EACH ROW WHEN (OLD.sealed_fence = -1 AND NEW.sealed_fence <> -1) EXECUTE FUNCTION "keep_lease"();
