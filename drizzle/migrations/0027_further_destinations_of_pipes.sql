CREATE TABLE "further_pipe_destinations" (
	"pipe_id" text NOT NULL,
	"data_store_id" uuid NOT NULL,
	"position" smallint NOT NULL,
	"required" boolean NOT NULL,
	CONSTRAINT "further_pipe_destinations_pipe_id_position_pk" PRIMARY KEY("pipe_id","position")
);
--> statement-breakpoint
ALTER TABLE "further_pipe_destinations" ADD CONSTRAINT "further_pipe_destinations_pipe_id_pipes_id_fk" FOREIGN KEY ("pipe_id") REFERENCES "public"."pipes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "further_pipe_destinations_data_store_id_index" ON "further_pipe_destinations" USING btree ("data_store_id");
