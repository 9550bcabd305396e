"""What `web_eval_agent` is made of; but for the flow and the steps loaded at the first evaluation."""
