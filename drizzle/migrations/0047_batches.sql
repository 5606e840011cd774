CREATE TABLE "batches" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" uuid NOT NULL,
	"pipe_id" text NOT NULL,
	"sender_id" uuid NOT NULL,
	"subject" text,
	"name" text NOT NULL,
	"by_token" boolean NOT NULL,
	"sealed_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "batches" ADD CONSTRAINT "batches_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "batches_to_complete" ON "batches" USING btree ("sealed_at") WHERE "batches"."sealed_at" is not null and "batches"."completed_at" is null;--> statement-breakpoint
CREATE INDEX "batches_workspace_id_index" ON "batches" USING btree ("workspace_id");