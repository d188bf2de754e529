// In the place of the theme's file of this name, 1.5 MB on every page: its icons are in its font, too.
