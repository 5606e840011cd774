CREATE TABLE "creation_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"file_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "creation_keys_created_at_index" ON "creation_keys" USING btree ("created_at");