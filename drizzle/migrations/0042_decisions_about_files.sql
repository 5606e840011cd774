CREATE TABLE "file_decisions" (
	"file_id" uuid NOT NULL,
	"hook" text NOT NULL,
	"state" text NOT NULL,
	"decided_by" text NOT NULL,
	"reason" text,
	"result" jsonb,
	"decided_at" timestamp (3) with time zone NOT NULL,
	"deferred_until" timestamp (3) with time zone,
	CONSTRAINT "file_decisions_file_id_hook_pk" PRIMARY KEY("file_id","hook")
);
--> statement-breakpoint
ALTER TABLE "file_decisions" ADD CONSTRAINT "file_decisions_file_id_files_id_fk" FOREIGN KEY ("file_id") REFERENCES "public"."files"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "file_decisions_deferred" ON "file_decisions" USING btree ("deferred_until") WHERE "file_decisions"."state" = 'deferred';