CREATE TABLE "imports" (
	"file_id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"shown_url" text NOT NULL,
	"sealed" text NOT NULL,
	"sha256" text,
	"hashed_bytes" bigint DEFAULT 0 NOT NULL,
	"hash_state" text,
	"validator" text,
	"failures" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp (3) with time zone,
	"last_error" text,
	"due_at" timestamp (3) with time zone,
	"claim" uuid,
	"claimed_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "imports" ADD CONSTRAINT "imports_file_id_files_id_fk" FOREIGN KEY ("file_id") REFERENCES "public"."files"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "imports_due" ON "imports" USING btree ("workspace_id","due_at","file_id") WHERE "imports"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "imports_claimed" ON "imports" USING btree ("workspace_id") WHERE "imports"."claimed_until" is not null;