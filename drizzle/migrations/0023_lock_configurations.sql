CREATE TABLE "configuration_locks" (
	"workspace_id" uuid PRIMARY KEY NOT NULL,
	"holder" uuid NOT NULL,
	"holder_label" text NOT NULL,
	"locked_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "configuration_locks" ADD CONSTRAINT "configuration_locks_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;