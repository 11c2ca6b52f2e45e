"""Reports in other forms: text for a terminal, JUnit for build servers, one offline HTML file for people."""
