"""Files that name workers line by line: bonuses to pay, values of a qualification to give."""
